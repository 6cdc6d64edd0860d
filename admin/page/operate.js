// SPDX-License-Identifier: MIT
// Operations on many jobs: the user fills in a form, the broker counts the jobs that would change,
// the user confirms, and a dialog shows the progress.

import { call, get } from './api.js'
import { button, el, setText } from './dom.js'
import { STAY, dialog, field, formDialog, input } from './dialog.js'
import { count, whole } from './format.js'
import { ACTIONS, NEEDS, asked, filterFields } from './operate_fields.js'
import { meter } from './parts.js'

const JOB = number => count(number, 'job')

const things = (action, number) => (ACTIONS[action].queues ? count(number, 'queue') : JOB(number))

const LOOK_EVERY = 250

// Resolves when the operation has ended; calls `seen` with its progress.
async function follow(operation, seen, stopped = () => false) {
  while (operation.state === 'running' && !stopped()) {
    seen(operation)
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY))
    operation = await get(`operations/${operation.id}`)
  }
  seen(operation)
  return operation
}

export function skippedText({ held, forbidden, refused }) {
  const parts = [
    [held, 'held by workers'],
    [forbidden, 'not allowed'],
    [refused, 'refused']
  ]
  return parts
    .filter(([number]) => number)
    .map(([number, why]) => `${whole(number)} ${why}`)
    .join(', ')
}

// Runs the operation and shows its progress in a dialog, which may be closed meanwhile.
async function runShown(wanted) {
  const { title, done } = ACTIONS[wanted.action]
  const bar = meter('Progress')
  const says = el('p', { role: 'status' })
  const shown = dialog(title, {}, bar.node, says)
  let operation = await call('POST', 'operations', wanted).catch(error => {
    setText(says, error.message)
    return null
  })
  const leave = button('Close', () => shown.close(), { class: 'button' })
  if (!operation) return shown.foot.append(leave)
  const stop = button(
    'Stop',
    () => call('DELETE', `operations/${operation.id}`).catch(() => {}),
    { class: 'button' }
  )
  shown.foot.append(stop, leave)
  leave.focus()
  let left = false
  shown.closed.then(() => {
    left = true
  })
  operation = await follow(
    operation,
    seen => {
      bar.draw(seen.state === 'done' ? 1 : seen.looked_at, seen.state === 'done' ? 1 : seen.total)
      const skipped = skippedText(seen.skipped)
      setText(
        says,
        `${things(wanted.action, seen.touched)} ${done}.` +
          (skipped && ` Skipped: ${skipped}.`)
      )
    },
    () => left
  ).catch(error => setText(says, error.message))
  stop.remove()
  if (operation?.state === 'failed') setText(says, `It failed: ${operation.error}`)
  if (operation?.state === 'cancelled') setText(says, `Stopped. ${says.textContent}`)
}

// Shows the number of jobs that would change; resolves to whether the user confirms.
async function agree(wanted, where) {
  const { verb, danger, says } = ACTIONS[wanted.action]
  const counting = el('p', { role: 'status' }, 'Counting …')
  const shown = dialog(
    ACTIONS[wanted.action].title,
    {},
    counting,
    el('p', { class: 'hint', text: says })
  )
  shown.foot.append(button('Back', () => shown.close(false)))
  let left = false
  shown.closed.then(() => {
    left = true
  })
  try {
    const tried = await call('POST', 'operations', { ...wanted, dry_run: true })
    const told = await follow(
      tried,
      ({ touched }) => setText(counting, `Counting … ${whole(touched)}`),
      () => left
    )
    if (left) call('DELETE', `operations/${tried.id}`).catch(() => {})
    if (told.error) throw new Error(told.error)
    const skipped = skippedText(told.skipped)
    const to = wanted.to ? ` to ${wanted.to}` : ''
    counting.replaceChildren(
      told.touched ? `This will ${verb.toLowerCase()} ` : 'This changes nothing: ',
      el('strong', {}, things(wanted.action, told.touched)),
      ` of ${where}${told.touched ? to : ''}. `,
      skipped && `Skipped: ${skipped}.`
    )
    if (told.touched) {
      const go = button(`${verb} ${things(wanted.action, told.touched)}`, () => shown.close(true), {
        class: danger ? 'button danger' : 'button primary'
      })
      shown.foot.append(go)
      go.focus()
    }
  } catch (error) {
    counting.replaceChildren(el('span', { class: 'form-error', text: error.message }))
  }
  return shown.closed
}

// The whole course, from the form on. Without a queue (a Queue of the API), the form asks for a name
// or a glob.
export async function operateForm(action, queue, { states } = {}) {
  const { title, says, needs = [], queues, states: usual } = ACTIONS[action]
  const fields = [
    el('p', { class: 'hint', text: says }),
    queue === undefined &&
      field(
        'Queue',
        input('queue', { required: true, maxlength: 512 }),
        'A name, or a pattern such as mail-*; * is all queues'
      ),
    ...needs.map(need => NEEDS[need]()),
    ...(queues ? [] : filterFields({ states: states ?? usual }))
  ]
  await formDialog(
    queue === undefined ? title : `${title} of ${queue.name}`,
    { submit: 'Count', wide: true },
    fields.filter(Boolean),
    async (values, shown) => {
      const wanted = asked(action, queue, values)
      const where = queue?.name ?? wanted.queue ?? wanted.queues
      if (!(await agree(wanted, where))) return STAY
      shown.close()
      await runShown(wanted)
      return STAY
    }
  )
}
