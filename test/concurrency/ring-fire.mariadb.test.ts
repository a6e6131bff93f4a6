import { describeRingFire } from './ring-fire'

describeRingFire('mariadb', [{ groups: 10, operations: 20, batch: 8 }])
