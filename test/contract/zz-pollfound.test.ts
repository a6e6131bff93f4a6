import { describeEngine } from '../support/engines'
import { useContext } from './suite/context'
import { describePollFoundPurposes } from './suite/poll-found-purposes'
import { describePollFoundRenewals } from './suite/poll-found-renewals'
import { describePollFoundResults } from './suite/poll-found-results'

describeEngine('mariadb', 'found', () => {
  const context = useContext('mariadb')
  describePollFoundPurposes(context)
  describePollFoundResults(context)
  describePollFoundRenewals(context)
})
