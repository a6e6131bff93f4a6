import { describeWindowsOfProcesses } from './window-fire'

describeWindowsOfProcesses('mariadb')
