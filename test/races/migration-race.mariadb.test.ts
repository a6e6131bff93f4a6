import { describeMigrationRace } from './migration-race'

describeMigrationRace('mariadb')
