import { describeServerFaults } from './server-faults'

describeServerFaults('mariadb')
