import { describeEngine } from '../support/engines'
import { describeQueues } from './queues'

describeEngine('sqlite', 'contract of queues', () => describeQueues('sqlite'))
