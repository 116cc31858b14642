"""The report as one self-contained page (`page.render_html`); its style and scripts lie beside the modules."""
