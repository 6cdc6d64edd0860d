// SPDX-License-Identifier: MIT
// Runs before the first paint: a dark page must not begin as a light one. Not a module, since those
// wait for the document.
;(function () {
  'use strict'
  const KEY = 'tandem-theme'
  const system = matchMedia('(prefers-color-scheme: dark)')

  const chosen = () => localStorage.getItem(KEY)
  const show = () => {
    document.documentElement.dataset.theme = chosen() ?? (system.matches ? 'dark' : 'light')
  }

  // Back to what the system prefers, once that is what was asked for.
  window.switchTheme = () => {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
    if (next === (system.matches ? 'dark' : 'light')) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
    show()
  }
  system.addEventListener('change', show)
  show()
})()
