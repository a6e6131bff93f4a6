import { describeEngine } from '../support/engines'
import { describeQueues } from './queues'

describeEngine('mysql', 'contract of queues', () => describeQueues('mysql'))
