// SPDX-License-Identifier: MIT
// The last Process of the broker, and the rights of the caller.

import * as history from './history.js'
import * as live from './live.js'

export const session = { process: null }

// Whether the caller has this right on at least one queue.
export const may = right =>
  session.process?.may.some(one => one === right || one === 'admin') ?? false

live.on('process', process => {
  history.noteProcess(process)
  session.process = process
})
live.on('queues', ({ queues }) => queues.forEach(queue => history.noteQueue(queue)))
live.on('queue', queue => history.noteQueue(queue))

// Resolves once there is a Process.
export const known = () =>
  new Promise(resolve => {
    if (session.process) return resolve()
    const end = live.on('process', () => {
      end()
      resolve()
    })
  })
