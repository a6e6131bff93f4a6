import * as all from './all'

export * from './all'

/** For the `entities` of a DataSource. */
export const entities = Object.values(all)
