import { describeWindowsOfProcesses } from './window-fire'

describeWindowsOfProcesses('mysql')
