// SPDX-License-Identifier: MIT
// The bar at the top: the name of the broker, and the state of the connection.

import { token } from './api.js'
import { setText, shape } from './dom.js'
import { clock } from './format.js'
import * as live from './live.js'
import { session } from './session.js'
import { tokenAgain } from './token.js'

const at = id => document.getElementById(id)

const SAYS = {
  connecting: ['info', 'Connecting'],
  live: ['good', 'Live'],
  polling: ['info', 'Polling'],
  away: ['bad', 'Away'],
  starting: ['warn', 'Not ready'],
  refused: ['warn', 'Refused']
}

function drawStatus() {
  const { state, detail } = live.link
  const draining = state === 'live' && session.process?.draining
  const [kind, label] = draining ? ['warn', 'Draining'] : SAYS[state]
  const node = at('status')
  const text = draining ? 'New jobs are refused; jobs in the queues are handed out' : detail
  if (node.dataset.label === label && node.title === text) return
  node.dataset.label = label
  node.className = `status status-${kind}`
  node.title = text
  node.replaceChildren(shape(kind), document.createTextNode(label))
}

// A line over the bottom of the page, so that the layout does not move.
function drawAway() {
  const { state, detail, since } = live.link
  const node = at('away')
  const gone = state === 'away' || state === 'starting' || state === 'refused'
  if (gone) {
    const says = {
      away: `${detail}. The data is from ${clock(since / 1000)}; reconnecting.`,
      starting: `The broker is not ready: ${detail}`,
      refused: `${detail}. A token may be required: use the key button at the top.`
    }
    setText(node, says[state])
  }
  node.hidden = !gone
  document.body.classList.toggle('stale', gone)
}

function drawHost() {
  const { host, version } = session.process
  setText(at('host'), host)
  at('host').title = `Tandem ${version}`
}

export function startTop() {
  live.on('link', () => {
    drawStatus()
    drawAway()
  })
  live.on('process', () => {
    drawHost()
    drawStatus()
  })
  drawStatus()
  at('theme').addEventListener('click', () => window.switchTheme())
  at('token').addEventListener('click', async () => {
    const before = token.get()
    if ((await tokenAgain()) && token.get() !== before) live.again()
  })
}
