import { describeWindowsOfProcesses } from './windows'

describeWindowsOfProcesses('mariadb')
