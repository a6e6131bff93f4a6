import { describeServerFaults } from './server-faults'

describeServerFaults('mysql')
