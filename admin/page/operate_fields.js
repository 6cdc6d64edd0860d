// SPDX-License-Identifier: MIT
// The operations on many jobs, the fields of their forms, and their requests.

import { el } from './dom.js'
import { field, input, numberIn, numberInput } from './dialog.js'
import { STATES } from './parts.js'

// The texts of each action, the fields it needs, and its default states.
export const ACTIONS = {
  kick: {
    title: 'Kick jobs',
    verb: 'Kick',
    done: 'kicked',
    states: ['buried', 'delayed'],
    says: 'Makes them ready.'
  },
  delete: {
    title: 'Delete jobs',
    verb: 'Delete',
    done: 'deleted',
    danger: true,
    says: 'The jobs are lost for good. Held jobs are skipped unless “reserved” is chosen.'
  },
  bury: {
    title: 'Bury jobs',
    verb: 'Bury',
    done: 'buried',
    danger: true,
    states: ['ready', 'delayed'],
    says: 'Sets them aside until they are kicked.'
  },
  release: {
    title: 'Release jobs',
    verb: 'Release',
    done: 'released',
    danger: true,
    states: ['reserved'],
    needs: ['delay'],
    says: 'Takes them back from their workers without counting a failure.'
  },
  move: {
    title: 'Move jobs',
    verb: 'Move',
    done: 'moved',
    danger: true,
    needs: ['to'],
    says: 'They keep their id, age and contract; their attempts start at 0 again.'
  },
  change: {
    title: 'Change priority or delay',
    verb: 'Change',
    done: 'changed',
    needs: ['priority', 'delay'],
    says: 'An empty field changes nothing.'
  },
  pause: {
    title: 'Pause queues',
    verb: 'Pause',
    done: 'paused',
    danger: true,
    needs: ['pause'],
    queues: true,
    says: 'No job is handed out until the pause is over.'
  },
  resume: {
    title: 'Resume queues',
    verb: 'Resume',
    done: 'resumed',
    queues: true,
    says: 'Ends their pauses.'
  }
}

export const NEEDS = {
  to: () => field('To the queue', input('to', { required: true, maxlength: 512 })),
  priority: () =>
    field(
      'Priority',
      numberInput('priority', { max: 4294967295 }),
      '0 comes first; high is below 1,024, normal 65,536, low above 2,147,483,647'
    ),
  delay: () => field('Delay in seconds', numberInput('delay', { step: 'any' }), '0: ready now'),
  pause: () =>
    field(
      'For how many seconds',
      numberInput('pause', { required: true, value: 3600, step: 'any' })
    )
}

function stateBoxes(chosen) {
  const boxes = STATES.map(state => {
    const box = el('input', {
      type: 'checkbox',
      name: 'state',
      value: state,
      checked: chosen.includes(state)
    })
    return el('label', { class: 'box' }, box, state)
  })
  return el(
    'fieldset',
    { class: 'field' },
    el('legend', {}, 'States (none chosen: all)'),
    el('div', { class: 'boxes' }, boxes)
  )
}

export function filterFields({ states = [] }) {
  const pair = (label, low, high, props) =>
    el(
      'div',
      { class: 'pair' },
      field(`${label}, at least`, numberInput(low, props)),
      field(`${label}, at most`, numberInput(high, props))
    )
  return [
    stateBoxes(states),
    el(
      'details',
      { class: 'more' },
      el('summary', {}, 'Only some of them'),
      pair('Age in seconds', 'min_age_seconds', 'max_age_seconds', { step: 'any' }),
      pair('Priority', 'min_priority', 'max_priority', { max: 4294967295 }),
      pair('Bytes of the body', 'min_bytes', 'max_bytes'),
      field('The body contains', input('contains')),
      field('Maximum number of jobs', numberInput('max'), 'Empty: no limit')
    )
  ]
}

const NUMBERS = [
  'min_age_seconds',
  'max_age_seconds',
  'min_priority',
  'max_priority',
  'min_bytes',
  'max_bytes'
]

function filterIn(values) {
  const filter = {}
  const states = values.getAll('state')
  if (states.length) filter.states = states
  for (const name of NUMBERS) {
    const number = numberIn(values, name)
    if (number !== undefined) filter[name] = number
  }
  if (values.get('contains')) filter.contains = values.get('contains')
  return filter
}

// The NewOperation of the form. It names a queue by its path, since the name may not be text.
export function asked(action, queue, values) {
  const operation = { action }
  const name = (values.get('queue') ?? '').trim()
  if (queue) operation.queue_path = queue.path
  else if (/[*?[]/.test(name)) operation.queues = name
  else operation.queue = name
  if (!ACTIONS[action].queues) {
    const filter = filterIn(values)
    if (Object.keys(filter).length) operation.filter = filter
  }
  const set = (key, field) => {
    const number = numberIn(values, field)
    if (number !== undefined) operation[key] = number
  }
  set('max', 'max')
  set('priority', 'priority')
  set('delay_seconds', 'delay')
  set('pause_seconds', 'pause')
  if (values.get('to')) operation.to = values.get('to').trim()
  if (
    action === 'change' &&
    operation.priority === undefined &&
    operation.delay_seconds === undefined
  ) {
    throw new Error('Give a priority or a delay')
  }
  return operation
}
