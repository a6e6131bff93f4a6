import { describeEngine } from '../support/engines'
import { describeQueues } from './queues'

describeEngine('mariadb', 'contract of queues', () => describeQueues('mariadb'))
