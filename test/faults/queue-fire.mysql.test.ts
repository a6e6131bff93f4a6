import { describeQueueFire } from './queue-fire'

describeQueueFire('mysql')
