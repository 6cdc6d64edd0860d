// SPDX-License-Identifier: MIT
// Asks for a token where the broker wants one.

import { askBy, token } from './api.js'
import { button, el } from './dom.js'
import { dialog, field, input } from './dialog.js'

// One dialog, however many requests wait for it.
let asked = null

function show(why) {
  const secret = input('token', {
    type: 'password',
    required: true,
    autocomplete: 'current-password'
  })
  const form = el(
    'form',
    { id: 'token-form', novalidate: true },
    // Browsers that keep passwords look for whose it is.
    el('input', { type: 'text', autocomplete: 'username', hidden: true }),
    el(
      'p',
      { class: 'hint' },
      'The broker wants to know who you are. The token stays in this tab, until it is closed.'
    ),
    field('Token', secret, 'As in the file that server.access_file names the hash of.'),
    el('p', { class: 'form-error', role: 'alert', text: why })
  )
  const shown = dialog('Token', {}, form)
  shown.node.id = 'token-dialog'
  if (token.get()) {
    shown.foot.append(
      button('Forget it', () => {
        token.forget()
        shown.close(true)
      })
    )
  }
  shown.foot.append(
    button('Cancel', () => shown.close(false)),
    el('button', { type: 'submit', form: 'token-form', class: 'button primary' }, 'Use it')
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    if (!secret.value.trim()) return
    token.set(secret.value.trim())
    shown.close(true)
  })
  secret.focus()
  return shown.closed
}

// Resolves to whether there is another token, or none, to go on with.
export function changeToken(why = '') {
  asked ??= show(why).finally(() => {
    asked = null
  })
  return asked
}

// Who leaves the dialog is not asked again by each request that follows.
let left = false

export const tokenWanted = () => left

export async function tokenAgain() {
  left = false
  return changeToken()
}

askBy(async why => {
  if (!left) left = !(await changeToken(why))
  if (left) throw Object.assign(new Error('A token is needed'), { status: 401 })
})
