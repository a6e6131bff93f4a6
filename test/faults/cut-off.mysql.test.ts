import { describeCutOff } from './cut-off'

describeCutOff('mysql')
