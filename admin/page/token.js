// SPDX-License-Identifier: MIT
// Asks the user for a token if the broker requires one.

import { askBy, token } from './api.js'
import { button, el } from './dom.js'
import { dialog, field, input } from './dialog.js'

// One dialog for all waiting requests.
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
    // Password managers need a user name field.
    el('input', { type: 'text', autocomplete: 'username', hidden: true }),
    el(
      'p',
      { class: 'hint' },
      'The broker requires a token. It is kept until this tab is closed.'
    ),
    field('Token', secret, 'The token whose hash is in server.access_file.'),
    el('p', { class: 'form-error', role: 'alert', text: why })
  )
  const shown = dialog('Token', {}, form)
  shown.node.id = 'token-dialog'
  if (token.get()) {
    shown.foot.append(
      button('Forget', () => {
        token.forget()
        shown.close(true)
      })
    )
  }
  shown.foot.append(
    button('Cancel', () => shown.close(false)),
    el('button', { type: 'submit', form: 'token-form', class: 'button primary' }, 'Use')
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

// Resolves to whether the user set or removed the token.
export function changeToken(why = '') {
  asked ??= show(why).finally(() => {
    asked = null
  })
  return asked
}

// If the user cancels the dialog, later requests do not ask again.
let left = false

export const tokenWanted = () => left

export async function tokenAgain() {
  left = false
  return changeToken()
}

askBy(async why => {
  if (!left) left = !(await changeToken(why))
  if (left) throw Object.assign(new Error('A token is required'), { status: 401 })
})
