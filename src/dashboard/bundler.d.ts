/** Styles are bundled beside the script; nothing is imported from them. */
declare module '*.css'

/** Of the package, put in by the bundler. */
declare const RECENTN_VERSION: string
