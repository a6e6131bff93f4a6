// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */
export type * from './feed-answers'
export type * from './group-answers'
export type * from './process-answers'
export type * from './queue-answers'
export type * from './shared-answers'
