import { describeWindowsOfProcesses } from './window-fire'

describeWindowsOfProcesses('sqlite')
