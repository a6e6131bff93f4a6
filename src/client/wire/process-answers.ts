// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

export interface Health {
  status: 'ok'
}

export interface Access {
  scopes: ('append' | 'read' | 'queue' | 'feed' | 'admin')[]
  prefix: string | null
}
