import { describeQueueFire } from './queue-fire'

describeQueueFire('mariadb')
