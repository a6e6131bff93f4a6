import { describeMigrationRace } from './migration-race'

describeMigrationRace('mysql')
