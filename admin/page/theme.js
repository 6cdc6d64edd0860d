// SPDX-License-Identifier: MIT
// Runs before the first paint, so that a dark page does not flash light. It is not a module, because
// modules wait for the document.
;(function () {
  'use strict'
  const KEY = 'tandem-theme'
  const system = matchMedia('(prefers-color-scheme: dark)')

  const chosen = () => localStorage.getItem(KEY)
  const show = () => {
    document.documentElement.dataset.theme = chosen() ?? (system.matches ? 'dark' : 'light')
  }

  // Choosing the theme that the system prefers removes the stored choice.
  window.switchTheme = () => {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
    if (next === (system.matches ? 'dark' : 'light')) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
    show()
  }
  system.addEventListener('change', show)
  show()
})()
