import { describeLibraries } from './support/suite'
import { describeSurroundings } from './support/transactional'

describeLibraries('sqlite')
describeSurroundings('sqlite')
