import { describeScheduleFire } from './schedule-fire'

describeScheduleFire('mysql')
