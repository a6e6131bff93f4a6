import { describeRingFire } from './ring-fire'

describeRingFire('mysql', [
  { groups: 1, operations: 15, batch: 6 },
  { groups: 10, operations: 20, batch: 8 },
  { groups: 1000, operations: 25, batch: 20 },
])
