import { describeLibraries } from './support/suite'

describeLibraries('sqlite')
