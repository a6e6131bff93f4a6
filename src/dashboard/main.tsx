/** The dashboard: which page is shown, and what all pages have around them. */
import { render } from 'preact'
import { App } from './app'
import './styles/all.css'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
