import { describeLibraries } from './support/suite'
import { describeSurroundings } from './support/transactional'

describeLibraries('mysql')
describeSurroundings('mysql')
