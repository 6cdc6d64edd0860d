// SPDX-License-Identifier: MIT
// The actions of a queue, and the badges beside its name.

import { badge, button, el, setText } from './dom.js'
import { seconds } from './format.js'
import { addJob, limitQueue, pauseQueue, resumeQueue } from './job_forms.js'
import { operateForm } from './operate.js'
import { menu } from './parts.js'
import { may } from './session.js'

// Only allowed actions are offered; now() is the queue at the time of the click.
export function queueActions(now, again) {
  const then = act => async () => {
    await act()
    again()
  }
  const pause = button(
    'Pause …',
    then(() => (now().paused ? resumeQueue(now()) : pauseQueue(now())))
  )
  const operation = (label, action, look = 'button') =>
    button(
      label,
      then(() => operateForm(action, now())),
      { class: look }
    )
  const node = el(
    'div',
    { class: 'actions' },
    may('submit') &&
      button(
        'Add a job …',
        then(() => addJob(now())),
        { class: 'button primary' }
      ),
    may('operate') && [
      operation('Kick …', 'kick'),
      operation('Move …', 'move'),
      pause,
      operation('Clear …', 'delete', 'button danger-quiet'),
      menu('More', [
        operation('Change priority or delay …', 'change', 'item'),
        operation('Bury …', 'bury', 'item'),
        operation('Release …', 'release', 'item'),
        button(
          'Limits …',
          then(() => limitQueue(now())),
          { class: 'item' }
        )
      ])
    ]
  )
  return { node, draw: ({ paused }) => setText(pause, paused ? 'Resume' : 'Pause …') }
}

export function queueBadges() {
  const node = el('span', { class: 'badges' })
  let shown = ''
  const draw = ({ paused, pause_left_seconds: left, kept, workers, jobs, gone }) => {
    const list = []
    if (gone) list.push(['info', 'removed: it was empty and unused'])
    if (paused) list.push(['paused', `paused${left ? ` for ${seconds(left)}` : ''}`])
    if (kept) list.push(['info', 'kept'])
    if (jobs.ready && !workers && !paused) list.push(['warn', 'no workers'])
    if (shown === JSON.stringify(list)) return
    shown = JSON.stringify(list)
    node.replaceChildren(...list.map(([kind, text]) => badge(kind, text)))
  }
  return { node, draw }
}
