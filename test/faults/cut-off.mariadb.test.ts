import { describeCutOff } from './cut-off'

describeCutOff('mariadb')
