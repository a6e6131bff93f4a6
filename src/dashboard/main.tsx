/** The entry of the dashboard. */
import { render } from 'preact'
import { App } from './app'
import './styles/all.css'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
