/** Styles are bundled beside the script; nothing is imported from them. */
declare module '*.css'

/** The version of the package, which the bundler inserts. */
declare const RECENTN_VERSION: string
