// SPDX-License-Identifier: MIT
// Forms and confirmations that change one job or one queue.

import { call } from './api.js'
import { button, el } from './dom.js'
import {
  attempt,
  dialog,
  field,
  formDialog,
  input,
  numberIn,
  numberInput,
  toast
} from './dialog.js'

const SECONDS = { step: 'any' }

function newJob(queue, values) {
  const job = queue ? { queue_path: queue.path } : { queue: values.get('queue').trim() }
  job[values.get('encoding') === 'base64' ? 'body_base64' : 'body'] = values.get('body')
  const numbers = {
    priority: 'priority',
    delay: 'delay_seconds',
    ttr: 'ttr_seconds',
    attempts: 'max_attempts'
  }
  for (const [name, key] of Object.entries(numbers)) {
    const number = numberIn(values, name)
    if (number !== undefined) job[key] = number
  }
  if (values.get('key')) job.key = values.get('key')
  if (values.get('on_failure')) job.on_failure = values.get('on_failure')
  return job
}

const choice = (name, list) =>
  el(
    'select',
    { name },
    list.map(([value, text]) => el('option', { value }, text))
  )

// Resolves to the Added, or undefined. Without a queue, the form asks for its name.
export function addJob(queue) {
  const fields = [
    !queue && field('Queue', input('queue', { required: true, maxlength: 512 })),
    field('Body', el('textarea', { name: 'body', rows: 6, spellcheck: 'false', class: 'mono' })),
    field(
      'The body is',
      choice('encoding', [
        ['text', 'text'],
        ['base64', 'base64, for any bytes']
      ])
    ),
    el(
      'div',
      { class: 'pair' },
      field(
        'Priority',
        numberInput('priority', { value: 65536, max: 4294967295 }),
        '0 comes first'
      ),
      field('Delay in seconds', numberInput('delay', { value: 0, ...SECONDS }))
    ),
    el(
      'div',
      { class: 'pair' },
      field(
        'Time to run in seconds',
        numberInput('ttr', { value: 60 }),
        '0: as long as its worker is connected'
      ),
      field('Maximum attempts', numberInput('attempts', { max: 1000 }), 'Empty or 0: no limit')
    ),
    el(
      'div',
      { class: 'pair' },
      field('Unique key', input('key'), 'A live job with this key is joined'),
      field(
        'If it fails',
        choice('on_failure', [
          ['', 'default'],
          ['bury', 'bury it'],
          ['drop', 'drop it']
        ])
      )
    )
  ]
  return formDialog(
    queue ? `Add a job to ${queue.name}` : 'Add a job',
    { submit: 'Add it', wide: true },
    fields.filter(Boolean),
    async values => {
      const added = await call('POST', 'jobs', newJob(queue, values))
      toast(
        'good',
        added.joined ? `Joined job ${added.id}, which has this key` : `Job ${added.id} was added`
      )
      return added
    }
  )
}

// Resolves to whether the user confirms.
export function sure(title, text, verb) {
  const shown = dialog(title, {}, el('p', { text }))
  const go = button(verb, () => shown.close(true), { class: 'button danger' })
  shown.foot.append(
    button('Back', () => shown.close(false)),
    go
  )
  go.focus()
  return shown.closed.then(Boolean)
}

const path = ({ id }, verb = '') => `jobs/${id}${verb && `/${verb}`}`

// Each resolves to the changed job, or undefined if nothing was done; `remove` resolves to null.
export const jobActs = {
  kick: job => attempt(() => call('POST', path(job, 'kick')), `Job ${job.id} is ready`),
  touch: job =>
    attempt(() => call('POST', path(job, 'touch')), `The time to run of job ${job.id} was restarted`),

  async bury(job) {
    const held = job.state === 'reserved' ? ' It is taken from the worker that holds it.' : ''
    if (
      !(await sure(
        `Bury job ${job.id}`,
        `This sets 1 job aside until it is kicked.${held}`,
        'Bury 1 job'
      ))
    )
      return undefined
    return attempt(() => call('POST', path(job, 'bury'), {}), `Job ${job.id} is buried`)
  },

  async release(job) {
    const held = job.state === 'reserved'
    const text = held
      ? 'This takes 1 job back from its worker without counting a failure; another worker may take it.'
      : 'This ends the delay of 1 job.'
    if (!(await sure(`Release job ${job.id}`, text, 'Release 1 job'))) return undefined
    return attempt(() => call('POST', path(job, 'release'), {}), `Job ${job.id} is released`)
  },

  async remove(job) {
    const held = job.state === 'reserved' ? ' A worker holds it now.' : ''
    if (
      !(await sure(
        `Delete job ${job.id}`,
        `This deletes 1 job of ${job.queue} for good.${held}`,
        'Delete 1 job'
      ))
    )
      return undefined
    return attempt(() => call('DELETE', path(job)), `Job ${job.id} is deleted`)
  },

  change: job =>
    formDialog(
      `Change job ${job.id}`,
      { submit: 'Change 1 job' },
      [
        field(
          'Priority',
          numberInput('priority', { value: job.priority, max: 4294967295 }),
          '0 comes first'
        ),
        field('Delay in seconds', numberInput('delay', SECONDS), 'Empty: unchanged; 0: ready now')
      ],
      async values => {
        const change = {}
        const priority = numberIn(values, 'priority')
        const delay = numberIn(values, 'delay')
        if (priority !== undefined && priority !== job.priority) change.priority = priority
        if (delay !== undefined) change.delay_seconds = delay
        if (!Object.keys(change).length) throw new Error('Nothing was changed')
        const changed = await call('POST', path(job, 'change'), change)
        toast('good', `Job ${job.id} is changed`)
        return changed
      }
    ),

  back: job =>
    attempt(
      () => call('POST', path(job, 'move'), { back: true }),
      `Job ${job.id} is back in ${job.past.queue}`
    ),

  move: job =>
    formDialog(
      `Move job ${job.id}`,
      { submit: 'Move 1 job' },
      [
        field(
          'To the queue',
          input('queue', { required: true, maxlength: 512 }),
          'It keeps its id, its age and its contract'
        )
      ],
      async values => {
        const moved = await call('POST', path(job, 'move'), { queue: values.get('queue').trim() })
        toast('good', `Job ${job.id} is moved`)
        return moved
      }
    )
}

export function pauseQueue(queue) {
  return formDialog(
    `Pause ${queue.name}`,
    { submit: 'Pause 1 queue' },
    [
      field(
        'For how many seconds',
        numberInput('seconds', { value: 3600, required: true, ...SECONDS }),
        `No job is handed out until then; ${queue.jobs.ready} jobs are ready now`
      )
    ],
    async values => {
      const paused = await call('POST', `queues/${queue.path}/pause`, {
        seconds: numberIn(values, 'seconds')
      })
      toast('good', `${queue.name} is paused`)
      return paused
    }
  )
}

export const resumeQueue = queue =>
  attempt(() => call('POST', `queues/${queue.path}/resume`), `${queue.name} was resumed`)

export function limitQueue(queue) {
  const band = (name, title) => field(title, numberInput(name, { value: queue.limits[name] }))
  return formDialog(
    `Limits of ${queue.name}`,
    { submit: 'Set them' },
    [
      el(
        'p',
        { class: 'hint' },
        'Maximum number of jobs up to which submissions of each priority are accepted. 0: no limit.'
      ),
      band('high', 'High'),
      band('normal', 'Normal'),
      band('low', 'Low')
    ],
    async values => {
      const limits = Object.fromEntries(
        ['high', 'normal', 'low'].map(name => [name, numberIn(values, name) ?? 0])
      )
      const changed = await call('PUT', `queues/${queue.path}/limits`, limits)
      toast('good', `The limits of ${queue.name} were set`)
      return changed
    }
  )
}
