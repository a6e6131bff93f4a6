import { describeManyQueues } from './many-queues'

describeManyQueues('mariadb')
