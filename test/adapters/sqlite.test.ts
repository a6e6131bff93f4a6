import { describeLibraries } from './support/suite'
import { describeSurroundings } from './support/transactional'
import { describeTransactionalPage } from './support/transactional-page'

describeLibraries('sqlite')
describeSurroundings('sqlite')
describeTransactionalPage('sqlite')
