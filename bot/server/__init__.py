"""The GitHub App: receives webhooks, keeps them in a durable queue, and reviews pull requests from it."""
