import { describeManyQueues } from './many-queues'

describeManyQueues('mysql')
