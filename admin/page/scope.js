// SPDX-License-Identifier: MIT
// The resources of a view, which end when the view does.

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

  // Reports a failed request. `inPassing`: it was a periodic one, which is repeated.
  fail = (error, inPassing = false) => {
    if (this.over || error.name === 'AbortError') return
    const later = [0, 401, 503].includes(error.status)
    if (!later) this.failed(error)
    // The line at the bottom already shows periodic failures.
    else if (!inPassing) toast('bad', error.message)
  }

  // Calls act for events of the stream.
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

  // Calls an async function now, and again `time` milliseconds after it has ended; not while the tab
  // is hidden. -> a function that calls it at once.
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
