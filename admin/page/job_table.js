// SPDX-License-Identifier: MIT
// Tables of jobs, with different columns for each state.

import { link } from './dom.js'
import { bytes, band, count, seconds, whole } from './format.js'
import { drawState } from './parts.js'
import { drawLink, table } from './table.js'

const ID = { title: 'Job', draw: (cell, { id }) => drawLink(cell, `#/jobs/${id}`, id) }
const AGE = {
  title: 'Age',
  hint: 'Since it was submitted',
  number: true,
  text: ({ age_seconds: age }) => seconds(age)
}
const PRIORITY = {
  title: 'Priority',
  hint: '0 comes first',
  number: true,
  text: ({ priority }) => `${whole(priority)} ${band(priority)}`
}
const BODY = { title: 'Body', number: true, text: ({ body_bytes: size }) => bytes(size) }
const ATTEMPTS = {
  title: 'Attempts',
  hint: 'Used, of the maximum',
  number: true,
  text: ({ attempts, max_attempts: most }) => (most ? `${attempts} of ${most}` : whole(attempts))
}
const KEY = { title: 'Key', text: ({ key }) => key ?? '' }
const HOLDER = {
  title: 'Held by',
  draw: (cell, { holder }) =>
    holder === null ? cell.replaceChildren('unknown') : drawHolder(cell, holder)
}
const LEFT = title => ({
  title,
  number: true,
  text: ({ left_seconds: left }) => (left ? seconds(left) : '–')
})
const BURIES = { title: 'Buried', number: true, text: ({ counts }) => count(counts.buries, 'time') }
const QUEUE = {
  title: 'Queue',
  draw: (cell, job) => drawLink(cell, `#/queues/${job.queue_path}`, job.queue)
}
const STATE = { title: 'State', draw: (cell, { state }) => drawState(cell, state) }

function drawHolder(cell, holder) {
  if (cell.firstElementChild) drawLink(cell, `#/connections/${holder}`, `connection ${holder}`)
  else cell.replaceChildren(link(`#/connections/${holder}`, `connection ${holder}`))
}

const BY_STATE = {
  ready: [ID, PRIORITY, AGE, ATTEMPTS, BODY, KEY],
  delayed: [ID, LEFT('Ready in'), PRIORITY, AGE, BODY, KEY],
  reserved: [ID, HOLDER, LEFT('Time left'), PRIORITY, AGE, ATTEMPTS, BODY],
  buried: [ID, BURIES, PRIORITY, AGE, ATTEMPTS, BODY, KEY]
}

export const jobTable = state =>
  table({
    label: `Jobs, ${state}`,
    columns: BY_STATE[state],
    key: ({ id }) => id,
    empty: `No job is ${state}.`
  })

// The jobs that one connection holds.
export const heldTable = () =>
  table({
    label: 'Jobs it holds',
    columns: [ID, QUEUE, STATE, LEFT('Time left'), AGE, ATTEMPTS, BODY],
    key: ({ id }) => id,
    empty: 'It holds no job.',
    skeleton: 3
  })
