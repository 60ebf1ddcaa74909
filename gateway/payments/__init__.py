"""Payment for plans and credits: by Stripe, and by a transfer of a token on a chain.

Off unless ``payments`` of ``portal.yaml`` says otherwise. What is bought becomes a row of the
ledger of budgets, and a subscription the plan of an account (decision 0068). An event of Stripe's
only says what to look at: its state is then asked of the API, so that order and repeats of events
do not matter.
"""
