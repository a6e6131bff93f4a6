import { describeWindowsOfProcesses } from './windows'

describeWindowsOfProcesses('mysql')
