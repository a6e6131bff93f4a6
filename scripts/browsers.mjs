/** The oldest browsers that the pages are for; docs/dashboard.md names them. */
export const BROWSERS = ['chrome111', 'firefox115', 'safari16.4']
