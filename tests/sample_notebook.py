"""Notebooks to test with, as the tools that students use save them."""

import json

PYTHON = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "version": "3.11.7"},
}
COLAB = {
    "accelerator": "GPU",
    "colab": {"provenance": [], "gpuType": "T4", "toc_visible": True},
    "kernelspec": {"display_name": "Python 3", "name": "python3"},
    "language_info": {"name": "python"},
}
PLOT = {
    "output_type": "display_data",
    "data": {"image/png": "iVBORw0KGgo=" * 20, "text/plain": ["<Figure size 640x480 with 1 Axes>"]},
    "metadata": {"needs_background": "light"},
}


def code(source, number=None, outputs=(), **metadata):
    """A cell of code, its source a list of lines as Jupyter writes it."""
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {
        "cell_type": "code",
        "execution_count": number,
        "metadata": metadata,
        "outputs": list(outputs),
        "source": lines,
    }


def text(source):
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def jupyter(*cells, metadata=PYTHON):
    """A notebook of format 4, as bytes; texts stand for cells of code, run one after the other."""
    made = [code(cell, number) if isinstance(cell, str) else cell for number, cell in enumerate(cells, 1)]
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode()


def colab(*cells):
    """As Colab saves it: no numbers, an id in each cell, forms, sources with their metadata."""
    made = [code(cell, None, [PLOT], id=f"x{at}Y", cellView="form") for at, cell in enumerate(cells)]
    return jupyter(*made, metadata=COLAB)


def vscode(*cells):
    """As VS Code saves it: beside Python, cells of other languages."""
    other = code("ls -l\n", None, vscode={"languageId": "shellscript"})
    return jupyter(other, *[code(cell, at, vscode={"languageId": "python"}) for at, cell in enumerate(cells, 1)])


def format_3(*cells):
    """A notebook of format 3, with its worksheets."""
    made = [
        {"cell_type": "code", "language": "python", "input": cell, "prompt_number": at, "outputs": [], "metadata": {}}
        for at, cell in enumerate(cells, 1)
    ]
    heading = {"cell_type": "heading", "level": 1, "metadata": {}, "source": "Homework"}
    whole = {"metadata": {"name": "hw"}, "nbformat": 3, "worksheets": [{"cells": [heading, *made]}]}
    return json.dumps(whole).encode()
