import { describeScheduleFire } from './schedule-fire'

describeScheduleFire('mariadb')
