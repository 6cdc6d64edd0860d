// SPDX-License-Identifier: MIT
// What belongs to a view while it is shown, and ends with it.

import { toast } from './dialog.js'
import * as live from './live.js'

export class Scope {
  constructor() {
    this.ends = []
    this.over = false
    this.aborter = new AbortController()
  }

  get signal() {
    return this.aborter.signal
  }

  // What could not be had. In passing: nobody has asked for it just now, and it is tried again.
  fail = (error, inPassing = false) => {
    if (this.over || error.name === 'AbortError') return
    const later = [0, 401, 503].includes(error.status)
    if (!later) this.failed(error)
    // Of the line at the foot there is one already.
    else if (!inPassing) toast('bad', error.message)
  }

  // Events of the stream.
  live(event, act) {
    this.ends.push(
      live.on(event, data => {
        if (!this.over) act(data)
      })
    )
  }

  on(target, type, act) {
    target.addEventListener(type, act, { signal: this.signal })
  }

  // Calls an async function now and so many milliseconds after it has ended, again and again; not
  // while nobody looks. -> what calls it at once.
  every(time, act) {
    let timer
    let turn = 0
    const step = async () => {
      clearTimeout(timer)
      const mine = ++turn
      if (!document.hidden) {
        try {
          await act()
        } catch (error) {
          this.fail(error, true)
        }
      }
      if (!this.over && mine === turn) timer = setTimeout(step, time)
    }
    this.ends.push(() => clearTimeout(timer))
    step()
    return step
  }

  leave() {
    this.over = true
    this.aborter.abort()
    for (const end of this.ends) end()
  }
}
