import { describeRingFire } from './ring-fire'

describeRingFire('mysql', [{ groups: 10, operations: 20, batch: 8 }])
