import { describeLibraries } from './support/suite'

describeLibraries('mysql')
