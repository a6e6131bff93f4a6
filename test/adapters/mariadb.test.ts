import { describeLibraries } from './support/suite'
import { describeSurroundings } from './support/transactional'

describeLibraries('mariadb')
describeSurroundings('mariadb')
