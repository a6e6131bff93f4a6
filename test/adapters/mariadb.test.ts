import { describeLibraries } from './support/suite'

describeLibraries('mariadb')
